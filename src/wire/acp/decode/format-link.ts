interface Link {
  readonly uri: string;
  readonly name?: string | undefined;
}

/**
 * A link as the agent is told of it. Nothing is read here: the file may be for its tools, the address for a browser that it
 * has, and what only the editor knows is for nobody; the agent is told which.
 */
export function formatLink({ uri, name = "" }: Link): string {
  const label = name.trim() === "" ? readLastSegment(uri) : name;
  return `[${toSingleLine(label).replaceAll("]", "\\]")}](${toSingleLine(uri)}) (${describeLink(uri)})`;
}

/** The last word of an address, by which people know what is there; all of it where there is none. */
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
    ? "an address; what is there is not in this message"
    : "cannot be read from here; its content is not in this message";
}

/** As tools take it; undefined for what is no file of one machine. */
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
