/** Crockford's: no letter that looks like a digit, and in the order of its characters. */
export const ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Chance as text of this many characters of the alphabet makes two ids of one millisecond differ. */
export const SEED_LENGTH = 13;
