import type { Sessions } from "./sessions.ts";

export type SessionMethod = Exclude<keyof Sessions, "agents">;

interface MethodTraits {
  /**
   * - `request`: JSON arguments and a single result, so the method can be sent to another process.
   * - `stream`: many results.
   * - `composed`: takes a function; for another process, the method is composed of requests.
   */
  readonly kind: "request" | "stream" | "composed";
  /**
   * How the method is repeated if the owner is lost before its result arrives.
   *
   * - `repeat`: with the same arguments.
   * - `identify`: with an id that was added before the first attempt, so that the next owner recognizes the repetition.
   * - `reattach`: and again with each later owner, for as long as the client is attached.
   * - `resume`: from the last cursor.
   * - `restart`: from the beginning. The first item of the stream tells its reader so.
   */
  readonly afterOwnerLoss: "repeat" | "identify" | "reattach" | "resume" | "restart";
}

/**
 * One row per method of `Sessions`. Every layer between a surface and its sessions (`session/remote`, the rights of a
 * caller) is derived from these rows or lists their names, so the compiler reports each place where a new method is
 * missing.
 */
export const SESSION_METHODS = {
  open: { kind: "request", afterOwnerLoss: "identify" },
  openWithPrompt: { kind: "composed", afterOwnerLoss: "identify" },
  command: { kind: "request", afterOwnerLoss: "identify" },
  setClientTools: { kind: "request", afterOwnerLoss: "reattach" },
  subscribe: { kind: "stream", afterOwnerLoss: "resume" },
  watchSessions: { kind: "stream", afterOwnerLoss: "restart" },
  status: { kind: "request", afterOwnerLoss: "repeat" },
  readUsage: { kind: "request", afterOwnerLoss: "repeat" },
  readHistory: { kind: "request", afterOwnerLoss: "repeat" },
  listToolRules: { kind: "request", afterOwnerLoss: "repeat" },
  find: { kind: "request", afterOwnerLoss: "repeat" },
  list: { kind: "request", afterOwnerLoss: "repeat" },
  readBlob: { kind: "request", afterOwnerLoss: "repeat" },
  delete: { kind: "request", afterOwnerLoss: "repeat" },
  readRecord: { kind: "request", afterOwnerLoss: "repeat" },
  // A repeated write with an expected version may conflict with its own first attempt.
  putRecord: { kind: "request", afterOwnerLoss: "repeat" },
  deleteRecord: { kind: "request", afterOwnerLoss: "repeat" },
  listRecords: { kind: "request", afterOwnerLoss: "repeat" },
  checkCredentials: { kind: "request", afterOwnerLoss: "repeat" },
  checkLog: { kind: "request", afterOwnerLoss: "repeat" },
} as const satisfies { readonly [Name in SessionMethod]: MethodTraits };

type MethodWith<Traits extends Partial<MethodTraits>> = {
  [Name in SessionMethod]: (typeof SESSION_METHODS)[Name] extends Traits ? Name : never;
}[SessionMethod];

/** Methods which can be sent to another process as a single message. */
export type RequestMethod = MethodWith<{ readonly kind: "request" }>;
/** Methods which can be sent to the next owner unchanged. */
export type RepeatableMethod = MethodWith<{
  readonly kind: "request";
  readonly afterOwnerLoss: "repeat";
}>;

const METHOD_NAMES = Object.keys(SESSION_METHODS) as SessionMethod[];
export const REQUEST_METHODS = METHOD_NAMES.filter(
  (name): name is RequestMethod => SESSION_METHODS[name].kind === "request",
);
export const REPEATABLE_METHODS = REQUEST_METHODS.filter(
  (name): name is RepeatableMethod => SESSION_METHODS[name].afterOwnerLoss === "repeat",
);

/** The value with which the promise of a request resolves. */
export type MethodResult<Name extends RequestMethod> = Awaited<ReturnType<Sessions[Name]>>;

/** Creates request methods which call `forward` with their name and arguments. */
export function deriveRequests<Name extends RequestMethod>(
  names: readonly Name[],
  forward: <Called extends Name>(
    name: Called,
    args: Parameters<Sessions[Called]>,
  ) => Promise<MethodResult<Called>>,
): Pick<Sessions, Name> {
  const methods = names.map((name) => [
    name,
    (...args: Parameters<Sessions[Name]>) => forward(name, args),
  ]);
  return Object.fromEntries(methods) as Pick<Sessions, Name>;
}

export function sendRequest<Name extends RequestMethod>(
  sessions: Sessions,
  name: Name,
  args: Parameters<Sessions[Name]>,
): Promise<MethodResult<Name>> {
  return Reflect.apply(sessions[name], sessions, args) as Promise<MethodResult<Name>>;
}

/** Returns the named methods unchanged. */
export function passMethods<Name extends SessionMethod>(
  sessions: Sessions,
  names: readonly Name[],
): Pick<Sessions, Name> {
  const methods = names.map((name) => [
    name,
    (...args: Parameters<Sessions[Name]>): unknown => Reflect.apply(sessions[name], sessions, args),
  ]);
  return Object.fromEntries(methods) as Pick<Sessions, Name>;
}
