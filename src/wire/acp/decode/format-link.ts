interface Link {
  readonly uri: string;
  readonly name?: string | undefined;
}

/**
 * Formats a link for the agent. Spanline never reads the target: a file is left to the agent's tools, a URL to its
 * browser, and an editor's own scheme cannot be read. The text after the link states which case applies.
 */
export function formatLink({ uri, name = "" }: Link): string {
  const label = name.trim() === "" ? readLastSegment(uri) : name;
  return `[${toSingleLine(label).replaceAll("]", "\\]")}](${toSingleLine(uri)}) (${describeLink(uri)})`;
}

/** Returns the last path segment of a URI as a display name, or the whole URI if there is none. */
export function readLastSegment(uri: string): string {
  const path = (parseUrl(uri)?.pathname ?? uri).replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last === "" ? uri : decodePercent(last);
}

function describeLink(uri: string): string {
  const file = toFilePath(uri);
  if (file !== undefined)
    return `the file ${toSingleLine(file)}; its content is not in this message`;
  const { protocol } = parseUrl(uri) ?? { protocol: "" };
  return protocol === "http:" || protocol === "https:"
    ? "a URL; its content is not in this message"
    : "cannot be read from here; its content is not in this message";
}

/** Converts a `file:` URI to a path for tools. Undefined for other schemes and for files on another host. */
function toFilePath(uri: string): string | undefined {
  const { protocol, hostname, pathname } = parseUrl(uri) ?? {};
  if (protocol !== "file:" || pathname === undefined) return undefined;
  if (hostname !== "" && hostname !== "localhost") return undefined;
  const path = decodePercent(pathname);
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
}

function parseUrl(uri: string): URL | undefined {
  try {
    return new URL(uri);
  } catch {
    return undefined;
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toSingleLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}
