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
export function canonicalRequest(
  request: SignedRequest,
  signedHeaders: readonly string[],
  payloadHash: string,
): string {
  const names = signedHeaders.toSorted();
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query),
    ...names.map((name) => `${name}:${canonicalHeader(request, name)}`),
    "",
    names.join(";"),
    payloadHash,
  ].join("\n");
}

/** The path is escaped a second time as it stands: `arn%3Aaws` becomes `arn%253Aaws`. Its slashes are not. */
function canonicalPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(escaped(segment));
  }
  const end = path.endsWith("/") && kept.length > 0 ? "/" : "";
  return `/${kept.join("/")}${end}`;
}

/** Every name and value is escaped once, whatever escapes the client chose, and the pairs are sorted. */
function canonicalQuery(query: string): string {
  if (query === "") return "";
  return query
    .split("&")
    .map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return [escaped(unescaped(name)), escaped(unescaped(value))] as const;
    })
    .sort((left, right) => order(left[0], right[0]) || order(left[1], right[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Values lose the spaces around them and have each run of inner ones as one; repeated headers are joined. */
function canonicalHeader({ headers }: SignedRequest, wanted: string): string {
  return headers
    .filter(([name]) => name === wanted)
    .map(([, value]) => value.trim().replaceAll(/\s+/g, " "))
    .join(",");
}

function order(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Everything but letters, digits and `-_.~`, byte by byte. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No escape that anyone signs; the signature will not match.
    return text;
  }
}
