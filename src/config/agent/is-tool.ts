import { isObject } from "../../data/json.ts";
import type { Tool } from "../../tools/tool.ts";

/** Checks the structure instead of the class, because a tool may come from another copy of this package. */
export function isTool(value: unknown): value is Tool {
  if (!isObject(value) || !isObject(value["spec"])) return false;
  return (
    typeof value["spec"]["name"] === "string" &&
    typeof value["check"] === "function" &&
    typeof value["run"] === "function"
  );
}
