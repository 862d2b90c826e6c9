# Fill a CSV file by VIM's kNN and print the seconds that it took: Rscript vim_knn.R IN OUT [LIBRARY]

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) > 2) .libPaths(c(arguments[3], .libPaths()))
suppressPackageStartupMessages(library(VIM))

holes <- read.csv(arguments[1])
start <- proc.time()[["elapsed"]]
filled <- kNN(holes, k = 10, numFun = laeken::weightedMean, weightDist = TRUE, imp_var = FALSE)
seconds <- proc.time()[["elapsed"]] - start
write.csv(filled, arguments[2], row.names = FALSE)
cat(seconds, "\n")
