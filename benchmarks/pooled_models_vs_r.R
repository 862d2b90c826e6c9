# Rscript pooled_models_vs_r.R FOLDER: pool the models of FOLDER/draw*.csv by mice, into FOLDER/*.csv
suppressPackageStartupMessages(library(mice))
folder <- commandArgs(trailingOnly = TRUE)[1]
draws <- lapply(sort(list.files(folder, "^draw.*csv$", full.names = TRUE)), read.csv)
pooled <- function(fits, name) {
  table <- summary(pool(as.mira(fits)), conf.int = TRUE)
  table$fmi <- pool(as.mira(fits))$pooled$fmi
  write.csv(table, file.path(folder, name), row.names = FALSE)
}
pooled(lapply(draws, function(d) lm(y ~ x + w + sex, d)), "linear.csv")
pooled(lapply(draws, function(d) glm(class ~ x + w + sex, binomial, d,
                                     control = glm.control(epsilon = 1e-12))), "logistic.csv")
