import { digestOf } from "../../platform/digest.ts";

/**
 * The first part of the names of a server's tools. It never has `__` in it, so that the first `__` of a tool's name is
 * where its server ends.
 */
export function serverPart(server: string): string {
  const plain = server.replaceAll(/[^a-zA-Z0-9-]+/g, "_").replaceAll(/^_|_$/g, "");
  if (plain === "") return `server_${mark(server)}`;
  return plain.length <= MAX_SERVER ? plain : fitted(plain, MAX_SERVER, server);
}

/**
 * The name of a server's tool for a model: `server__tool` in the characters and the length that all providers take. The
 * same for the same names, whatever else the server offers.
 */
export function modelName(server: string, tool: string): string {
  const beginning = `${serverPart(server)}__`;
  const room = MAX_NAME - beginning.length;
  const plain = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  const isFine = plain === tool && tool !== "" && tool.length <= room;
  return beginning + (isFine ? tool : fitted(plain, room, tool));
}

const MAX_NAME = 64;
const MAX_SERVER = 24;

/** What was lost of a name is replaced by a mark of the whole. */
function fitted(plain: string, room: number, whole: string): string {
  return `${plain.slice(0, room - MARK_LENGTH - 1)}_${mark(whole)}`;
}

const MARK_LENGTH = 8;

function mark(whole: string): string {
  return digestOf(whole).slice(0, MARK_LENGTH);
}
