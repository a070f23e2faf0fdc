/**
 * One form for everything that some file system takes for the same name: upper and lower case, composed or not, with or
 * without characters that are not seen. What denies compares these, so that no other spelling gets past it.
 */
export function foldSpelling(text: string): string {
  // To upper case first: only that way do ß and SS, ſ and s come out alike.
  return removeInvisibleCharacters(text)
    .normalize("NFC")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFC");
}

export function removeInvisibleCharacters(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, "");
}

/** HFS+ leaves them out when it compares names. */
const INVISIBLE_CHARACTERS = /\p{Default_Ignorable_Code_Point}/gu;
