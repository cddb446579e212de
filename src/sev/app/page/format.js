// Numbers in the reader's locale.

/** Formats of one locale; values are what JSON can hold: numbers, texts, booleans and null for missing. */
export function makeFormat(language, texts) {
  const own = (navigator.languages || []).find((tag) => tag.split("-")[0] === language);
  const locale = own || language;
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const integers = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const digits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 });
  const shares = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  const scores = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const changes = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
  const means = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

  const number = (value) => {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return integers.format(value);
    return Math.abs(value) >= 1000 ? integers.format(value) : digits.format(value);
  };
  return {
    locale,
    count: (value) => counts.format(value),
    number,
    score: (value) => (typeof value === "number" ? (Math.abs(value) < 10 ? scores : digits).format(value) : "–"),
    share: (value) => shares.format(value),
    /** By how much a score moved. */
    change: (value) => changes.format(value),
    mean: (value) => means.format(value),
    /** A cell of the table. */
    value(value) {
      if (value === null || value === undefined) return texts.t("missing");
      if (typeof value === "boolean") return texts.t(value ? "yes" : "no");
      return typeof value === "number" ? number(value) : String(value);
    },
  };
}
