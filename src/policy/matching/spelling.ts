/**
 * Folds all spellings which some file system treats as the same name into one form: letter case, Unicode composition,
 * invisible characters. Conservative matching compares folded names, so that no alternative spelling evades a rule.
 */
export function foldSpelling(text: string): string {
  // Uppercase first: only this order maps ß and SS, and ſ and s, to the same form.
  return removeInvisibleCharacters(text)
    .normalize("NFC")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFC");
}

export function removeInvisibleCharacters(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, "");
}

/** HFS+ ignores these characters when it compares names. */
const INVISIBLE_CHARACTERS = /\p{Default_Ignorable_Code_Point}/gu;
