#!/usr/bin/env bash
# Make the environments of the peers: install.sh FOLDER [PEER...]. A peer that does not install is named, and
# the benchmark runs without it. Pins are what each peer needs to run, not what it asks for. Packages of R that
# the machine has already, by its distribution or in FOLDER/rlib, are used; the others come from where the option
# "repos" of R says (in ~/.Rprofile or R's etc/Rprofile.site), and are named as not installed where it says nothing.
set -uo pipefail
mkdir -p "$1/rlib" && cd "$1" || exit 1
wanted=" ${*:2} "

peer() { # peer NAME PACKAGE...: a virtual environment
  [[ $wanted == "  " || $wanted == *" $1 "* ]] || return 0
  python3 -m venv "$1" && "./$1/bin/pip" install -q "${@:2}" || echo "not installed: $1" >&2
}

peer gcimpute gcimpute "numpy<2" "pandas<2.3" "scipy<1.14"
peer miceforest miceforest "lightgbm<4.6"
peer utrees utrees "scikit-learn<1.6"
peer forestdiffusion ForestDiffusion
peer fancyimpute fancyimpute "scikit-learn<1.6"
peer faiss faiss-imputer
peer datafiller datafiller
peer missforest missforest lightgbm scikit-learn tqdm "pandas<3"
peer missingly missingly gower "pandas<3"
peer mlimputer mlimputer
peer verstack verstack
peer hyperimpute hyperimpute "numpy<2" "pandas<2.2" "scikit-learn<1.5" "scipy<1.14"

[[ $wanted == "  " || $wanted == *" R "* ]] || exit 0
for package in mice missForest missRanger VIM; do # missRanger 2.5, for an older ranger, errs more than 2.6
  Rscript -e ".libPaths(c('rlib', .libPaths())); p <- '$package'; least <- c(missRanger = '2.6')[p]" -e "
    is_here <- function() requireNamespace(p, quietly = TRUE) && (is.na(least) || packageVersion(p) >= least)
    if (!is_here()) install.packages(p, lib = 'rlib')
    quit(status = !is_here())" || echo "not installed, or too old: $package" >&2
done
