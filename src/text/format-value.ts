import { toJsonText } from "../data/json.ts";

/** Formats a value for a message, as in code. Strings are cut after 60 characters. */
export function formatValue(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "missing";
    case "string":
      return toJsonText(value.length <= 60 ? value : `${value.slice(0, 60)}…`);
    case "number":
    case "bigint":
    case "boolean":
    case "symbol":
      return String(value);
    case "function":
      return "a function";
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
  }
}
