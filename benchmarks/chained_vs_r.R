# Fill every CSV file of a folder with mice (mean or vote of five draws) and, where it is
# installed, missForest. Usage: Rscript chained_vs_r.R FOLDER

folder <- commandArgs(trailingOnly = TRUE)[1]
suppressPackageStartupMessages(library(mice))
has_forest <- requireNamespace("missForest", quietly = TRUE)
backends <- character()
if (has_forest) {
  takes_backend <- "backend" %in% names(formals(missForest::missForest))
  backends <- if (takes_backend) c("randomForest", "ranger") else "randomForest"
}

vote <- function(draws) names(which.max(table(draws)))

joined <- function(tables) {
  result <- tables[[1]]
  for (name in names(result)) {
    draws <- sapply(tables, function(table) as.character(table[[name]]))
    if (is.numeric(result[[name]])) {
      result[[name]] <- rowMeans(sapply(tables, function(table) table[[name]]))
    } else {
      result[[name]] <- apply(draws, 1, vote)
    }
  }
  result
}

save <- function(table, path, method) {
  write.csv(table, sub("holes", method, path, fixed = TRUE), row.names = FALSE)
}

versions <- paste("mice", packageVersion("mice"))
if (has_forest) versions <- paste0(versions, ", missForest ", packageVersion("missForest"))
writeLines(versions, file.path(folder, "versions.txt"))

for (path in sort(list.files(folder, "\\.holes\\.csv$", full.names = TRUE))) {
  holes <- read.csv(path, stringsAsFactors = TRUE)
  seed <- as.integer(sub(".*-([0-9]+)\\.holes\\.csv$", "\\1", path))
  imputed <- mice(holes, m = 5, maxit = 5, printFlag = FALSE, seed = seed + 1)
  save(joined(lapply(1:5, function(i) complete(imputed, i))), path, "mice")
  for (backend in backends) {
    set.seed(seed + 1)
    extra <- if (length(backends) > 1) list(backend = backend) else list()
    filled <- do.call(missForest::missForest, c(list(holes), extra))$ximp
    save(filled, path, paste0("missForest-", backend))
  }
}
