interface Link {
  readonly uri: string;
  readonly name?: string | undefined;
}

/**
 * A link as the agent is told of it. Nothing is read here: the file may be for its tools, the address for a browser that it
 * has, and what only the editor knows is for nobody; the agent is told which.
 */
export function linkText({ uri, name = "" }: Link): string {
  const shown = name.trim() === "" ? nameIn(uri) : name;
  return `[${oneLine(shown).replaceAll("]", "\\]")}](${oneLine(uri)}) (${noteOn(uri)})`;
}

/** The last word of an address, by which people know what is there; all of it where there is none. */
export function nameIn(uri: string): string {
  const path = (parsed(uri)?.pathname ?? uri).replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last === "" ? uri : unescaped(last);
}

function noteOn(uri: string): string {
  const file = filePath(uri);
  if (file !== undefined) return `the file ${oneLine(file)}; its content is not in this message`;
  const { protocol } = parsed(uri) ?? { protocol: "" };
  return protocol === "http:" || protocol === "https:"
    ? "an address; what is there is not in this message"
    : "cannot be read from here; its content is not in this message";
}

/** As tools take it; undefined for what is no file of one machine. */
function filePath(uri: string): string | undefined {
  const { protocol, hostname, pathname } = parsed(uri) ?? {};
  if (protocol !== "file:" || pathname === undefined) return undefined;
  if (hostname !== "" && hostname !== "localhost") return undefined;
  const path = unescaped(pathname);
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
}

function parsed(uri: string): URL | undefined {
  try {
    return new URL(uri);
  } catch {
    return undefined;
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}
