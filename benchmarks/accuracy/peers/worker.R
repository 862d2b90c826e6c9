# Fill tables by one package of R: Rscript worker.R METHOD [LIBRARY]
#
# The same conversation as worker.py: a line of JSON for each table comes in, one goes out. Tables are
# CSV files whose column names begin with n (number), o (rank) or c (category).

arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
if (length(arguments) > 1) .libPaths(c(arguments[2], .libPaths()))

with_class <- grepl("\\+y$", method)
engine <- sub("\\+y$", "", method)
package <- c("R mice" = "mice", "R missForest" = "missForest", "R missRanger" = "missRanger",
             "R VIM kNN" = "VIM")[[engine]]
suppressPackageStartupMessages(library(package, character.only = TRUE))

drawn <- function(holes, seed, n) {
  imputed <- mice(holes, m = n, maxit = 5, printFlag = FALSE, seed = seed)
  lapply(seq_len(n), function(i) complete(imputed, i))
}

fill <- list(  # mice, which draws, is never asked for a fill
  "R missForest" = function(holes, seed) {
    extra <- if ("num.threads" %in% names(formals(missForest))) list(num.threads = 1) else list()
    filled <- do.call(missForest, c(list(holes), extra))$ximp
    holes[names(filled)] <- filled  # it drops columns without a value
    holes
  },
  "R missRanger" = function(holes, seed) {
    missRanger(holes, pmm.k = 0, verbose = 0, seed = seed, num.threads = 1)
  },
  "R VIM kNN" = function(holes, seed) {
    kNN(holes, numFun = laeken::weightedMean, weightDist = TRUE, imp_var = FALSE)
  }
)[[engine]]

field <- function(line, name) sub(sprintf('.*"%s": "?([^",}]*)"?[,}].*', name), "\\1", line)

answer <- function(line) {
  holes <- read.csv(field(line, "table"), check.names = FALSE)
  seed <- as.integer(field(line, "seed")) + 1L
  is_category <- grepl("^[cy]", names(holes))
  holes[is_category] <- lapply(holes[is_category], function(x) factor(paste0("v", x), exclude = "vNA"))
  if (!with_class) holes$y <- NULL
  set.seed(seed)
  draws <- as.integer(field(line, "draws"))
  start <- proc.time()
  filled <- if (draws > 0) do.call(rbind, drawn(holes, seed, draws)) else fill(holes, seed)
  seconds <- sum((proc.time() - start)[c("user.self", "sys.self")])
  filled$y <- NULL
  is_category <- grepl("^c", names(filled))
  filled[is_category] <- lapply(filled[is_category], function(x) sub("^v", "", as.character(x)))
  write.csv(filled, field(line, "filled"), row.names = FALSE, na = "", quote = FALSE)
  sprintf('{"seconds": %.4f, "version": "%s"}', seconds, packageVersion(package))
}

sink(stderr())  # what a package prints is not an answer
answers <- stdout()
lines <- file("stdin", open = "r")
while (length(line <- readLines(lines, n = 1)) > 0) {
  found <- tryCatch(answer(line), error = function(e) {
    sprintf('{"error": "%s"}', gsub('["\\\\[:cntrl:]]', " ", substr(conditionMessage(e), 1, 300)))
  })
  sink()
  cat(found, "\n", sep = "")
  flush(stdout())
  sink(stderr())
}
