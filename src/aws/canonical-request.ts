/** A request as received, with the parts covered by a signature. */
export interface SignedRequest {
  readonly method: string;
  /** As in the request line, with its escapes. */
  readonly path: string;
  /** As in the request line, without the question mark. */
  readonly query: string;
  /** Names are in lowercase; repeated headers keep their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The canonical request of Signature Version 4, by the rules of all services except S3. */
export function buildCanonicalRequest(
  request: SignedRequest,
  signedHeaders: readonly string[],
  payloadHash: string,
): string {
  const names = signedHeaders.toSorted();
  return [
    request.method,
    encodeCanonicalPath(request.path),
    encodeCanonicalQuery(request.query),
    ...names.map((name) => `${name}:${encodeCanonicalHeader(request, name)}`),
    "",
    names.join(";"),
    payloadHash,
  ].join("\n");
}

/** Escapes the already escaped path a second time: `arn%3Aaws` becomes `arn%253Aaws`. Slashes are not escaped. */
function encodeCanonicalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(escapeUri(segment));
  }
  const trailingSlash = path.endsWith("/") && segments.length > 0 ? "/" : "";
  return `/${segments.join("/")}${trailingSlash}`;
}

/** Escapes every name and value once, independent of the client's escapes, and sorts the pairs. */
function encodeCanonicalQuery(query: string): string {
  if (query === "") return "";
  return query
    .split("&")
    .map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return [escapeUri(unescapeUri(name)), escapeUri(unescapeUri(value))] as const;
    })
    .sort((left, right) => compareStrings(left[0], right[0]) || compareStrings(left[1], right[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Trims values, collapses inner spaces, and joins repeated headers with commas. */
function encodeCanonicalHeader({ headers }: SignedRequest, headerName: string): string {
  return headers
    .filter(([name]) => name === headerName)
    .map(([, value]) => value.trim().replaceAll(/\s+/g, " "))
    .join(",");
}

function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Escapes all bytes except letters, digits and `-_.~`. */
function escapeUri(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function unescapeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid escape. No signer produces it, so the signature will not match.
    return text;
  }
}
