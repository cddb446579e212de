// Numbers in the reader's locale.

/** Formats of one locale; values are what JSON can hold: numbers, texts, booleans and null for missing. */
export function makeFormat(language, texts) {
  const own = (navigator.languages || []).find((tag) => tag.split("-")[0] === language);
  const locale = own || language;
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  // as in the sentences: four figures stay together, a year is "2024"; fractions have two decimals, small ones three figures
  const integers = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: "min2" });
  const decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: "min2" });
  const figures = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
  const digits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 });
  const roughly = new Intl.NumberFormat(locale, { minimumSignificantDigits: 2, maximumSignificantDigits: 2 });
  const shares = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  const scores = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const changes = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
  const means = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

  const number = (value) => {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return integers.format(value);
    return Math.abs(value) >= 1000 ? integers.format(value) : digits.format(value);
  };
  const cell = (value) => {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return integers.format(value);
    return (Math.abs(value) >= 0.1 && Math.abs(value) < 1e6 ? decimals : figures).format(value);
  };
  return {
    locale,
    count: (value) => counts.format(value),
    number,
    score: (value) => (typeof value === "number" ? (Math.abs(value) < 10 ? scores : digits).format(value) : "–"),
    share: (value) => shares.format(value),
    /** By how much a score moved. */
    change: (value) => changes.format(value),
    /** A measure of which two figures tell enough. */
    rough: (value) => roughly.format(value),
    mean: (value) => means.format(value),
    /** A cell of the table. */
    value(value) {
      if (value === null || value === undefined) return texts.t("missing");
      if (typeof value === "boolean") return texts.t(value ? "yes" : "no");
      return typeof value === "number" ? cell(value) : String(value);
    },
  };
}
