/**
 * True if the name of a variable, header or parameter indicates a secret. Matches whole words (`API_KEY`, `X-Api-Key`,
 * `apiKey`), so `KEYCLOAK_URL` and `GIT_AUTHOR_NAME` do not match.
 */
export function isSecretName(name: string): boolean {
  const words = splitWords(name);
  return words.some((word) => SECRET_WORD.test(word)) && !METADATA_WORDS.has(words.at(-1) ?? "");
}

/**
 * Some words also match at the end of a longer word, such as `PGPASSWORD`. `tokens` does not match, because
 * `MAX_TOKENS` is a number.
 */
const SECRET_WORD =
  /^(?:keys?|pass|pat|pwd|auth|authorization)$|(?:passw(?:or)?d|passphrase|secret|credential|cookie)s?$|token$|(?:api|access|auth|private|secret|ssh)keys?$/;

/** Final words for metadata about a secret, such as `TOKEN_URL`. */
const METADATA_WORDS: ReadonlySet<string> = new Set([
  "header",
  "method",
  "mode",
  "name",
  "type",
  "url",
]);

function splitWords(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase().replace(/\d+$/, ""))
    .filter((word) => word !== "");
}
