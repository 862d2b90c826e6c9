#!/usr/bin/env bash
# Make the environments of the peers: install.sh FOLDER. A peer that does not install is named, and the
# benchmark runs without it. Pins are what each peer needs to run, not what it asks for.
set -uo pipefail
mkdir -p "$1/rlib" && cd "$1" || exit 1

peer() { # peer NAME PACKAGE...: a virtual environment
  python3 -m venv "$1" && "./$1/bin/pip" install -q "${@:2}" || echo "not installed: $1" >&2
}

peer gcimpute gcimpute "numpy<2" "pandas<2.3" "scipy<1.14"
peer fancyimpute fancyimpute "scikit-learn<1.6"
peer faiss faiss-imputer
peer datafiller datafiller
peer missforest missforest lightgbm tqdm "pandas<3"
peer missingly missingly gower "pandas<3"
peer mlimputer mlimputer
peer verstack verstack
peer miceforest miceforest "lightgbm<4.6"
peer hyperimpute hyperimpute "numpy<2" "pandas<2.2" "scikit-learn<1.5" "scipy<1.14"

for package in mice missForest missRanger VIM; do
  Rscript -e "install.packages('$package', lib = 'rlib', repos = 'https://cloud.r-project.org')" ||
    echo "not installed: $package" >&2
done
