import { isObject } from "../data/json.ts";

/** All that is needed to invoke, find and delete a harness again. The same wherever it comes from. */
export interface HarnessHandle {
  readonly arn: string;
  readonly id: string;
  readonly name: string;
  /** The endpoint that was waited for: the qualifier to invoke it with. */
  readonly endpoint: string;
}

/** Null when the value is no handle, as in a file that others write to. */
export function parseHandle(value: unknown): HarnessHandle | null {
  if (!isObject(value)) return null;
  const { arn, id, name, endpoint } = value;
  const isComplete = [arn, id, name, endpoint].every(
    (text) => typeof text === "string" && text !== "",
  );
  if (!isComplete) return null;
  return { arn: String(arn), id: String(id), name: String(name), endpoint: String(endpoint) };
}
