/** What a signature covers, before it is looked at. */
export interface SignedRequest {
  readonly method: string;
  /** As it is in the request line, escapes and all. */
  readonly path: string;
  /** As it is in the request line, without the question mark. */
  readonly query: string;
  /** Names in lower case, repeated ones in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The canonical request of Signature Version 4, by the rules of every service but S3. */
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

/** The path is escaped a second time as it stands: `arn%3Aaws` becomes `arn%253Aaws`. Its slashes are not. */
function encodeCanonicalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(escapeUri(segment));
  }
  const trailingSlash = path.endsWith("/") && segments.length > 0 ? "/" : "";
  return `/${segments.join("/")}${trailingSlash}`;
}

/** Every name and value is escaped once, whatever escapes the client chose, and the pairs are sorted. */
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

/** Values lose the spaces around them and have each run of inner ones as one; repeated headers are joined. */
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

/** Everything but letters, digits and `-_.~`, byte by byte. */
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
    // No escape that anyone signs; the signature will not match.
    return text;
  }
}
