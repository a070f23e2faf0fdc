/** Crockford's base 32: no letter looks like a digit, and the alphabet is in character order, so ids sort by time. */
export const ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Random characters per id, enough for two ids of the same millisecond to differ. */
export const SEED_LENGTH = 13;
