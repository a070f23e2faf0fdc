/**
 * Whether a variable, a header or a parameter of this name holds a secret. It goes by whole words (`API_KEY`, `X-Api-Key`,
 * `apiKey`): `KEYCLOAK_URL` and `GIT_AUTHOR_NAME` name none.
 */
export function isSecretName(name: string): boolean {
  const words = splitWords(name);
  return words.some((word) => SECRET_WORD.test(word)) && !METADATA_WORDS.has(words.at(-1) ?? "");
}

/** Words that mean nothing else also where they end a longer one, such as `PGPASSWORD`. `MAX_TOKENS` is a number. */
const SECRET_WORD =
  /^(?:keys?|pass|pat|pwd|auth|authorization)$|(?:passw(?:or)?d|passphrase|secret|credential|cookie)s?$|token$|(?:api|access|auth|private|secret|ssh)keys?$/;

/** What says something of a secret, and not the secret itself. */
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
