/** Replaces the character references which occur in texts of models. Others stay as written. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (source, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? source;
      const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : Number(decimal);
      return isCharacter(code) ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", "\u00a0"],
  ["copy", "©"],
  ["reg", "®"],
  ["trade", "™"],
  ["hellip", "…"],
  ["mdash", "—"],
  ["ndash", "–"],
  ["bull", "•"],
  ["middot", "·"],
  ["times", "×"],
  ["deg", "°"],
  ["euro", "€"],
  ["rarr", "→"],
  ["larr", "←"],
  ["ge", "≥"],
  ["le", "≤"],
  ["ne", "≠"],
]);
