import { IssueCollector } from "../data/schema-error.ts";
import { object, string, type Schema } from "../data/schema-reader.ts";

/** The data needed to invoke, find and delete a harness. Independent of its source. */
export interface HarnessHandle {
  readonly arn: string;
  readonly id: string;
  readonly name: string;
  /** The endpoint which is ready; the qualifier for invocations. */
  readonly endpoint: string;
}

const HANDLE_PART = string({ isFilled: true });

const HANDLE: Schema<HarnessHandle> = object(
  { arn: HANDLE_PART, id: HANDLE_PART, name: HANDLE_PART, endpoint: HANDLE_PART },
  { otherNames: "ignore" },
);

/** Null if the value is not a handle, for example in a file edited by others. */
export function parseHandle(value: unknown): HarnessHandle | null {
  return new IssueCollector().attempt(() => HANDLE(value, "")) ?? null;
}
