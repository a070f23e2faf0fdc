import { isObject } from "../data/json.ts";

/** The data needed to invoke, find and delete a harness. Independent of its source. */
export interface HarnessHandle {
  readonly arn: string;
  readonly id: string;
  readonly name: string;
  /** The endpoint which is ready; the qualifier for invocations. */
  readonly endpoint: string;
}

/** Null if the value is not a handle, for example in a file edited by others. */
export function parseHandle(value: unknown): HarnessHandle | null {
  if (!isObject(value)) return null;
  const { arn, id, name, endpoint } = value;
  const isComplete = [arn, id, name, endpoint].every(
    (text) => typeof text === "string" && text !== "",
  );
  if (!isComplete) return null;
  return { arn: String(arn), id: String(id), name: String(name), endpoint: String(endpoint) };
}
