# For literature_oracles.py: Amelia's tables, its theta without bootstrap, and pooled coefficients.
# Usage: Rscript literature_oracles.R folder imputations
suppressMessages(library(Amelia))
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
m <- as.integer(given[2])
data(africa)
data(freetrade)
formulas <- list(africa = gdp_pc ~ trade + civlib + infl, freetrade = tariff ~ polity + pop + gdp.pc)
for (name in c("africa", "freetrade")) {
  table <- get(name)
  table <- table[, !(names(table) %in% c("year", "country"))]
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
  plain <- amelia(table, m = 1, boot.type = "none", p2s = 0, tolerance = 1e-8)
  write.table(plain$theta[, , 1], file.path(folder, paste0(name, "_theta.txt")),
              row.names = FALSE, col.names = FALSE)
  set.seed(1)
  drawn <- amelia(table, m = m, p2s = 0)
  fits <- lapply(drawn$imputations, function(filled) lm(formulas[[name]], data = filled))
  estimates <- sapply(fits, coef)
  variances <- sapply(fits, function(fit) diag(vcov(fit)))
  between <- apply(estimates, 1, var)
  pooled <- cbind(rowMeans(estimates), rowMeans(variances), between)
  write.table(pooled, file.path(folder, paste0(name, "_pooled.txt")), row.names = FALSE,
              col.names = FALSE)
}
cat(as.character(packageVersion("Amelia")), file = file.path(folder, "version.txt"))
