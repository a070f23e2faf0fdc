import { isObject } from "../../../data/json.ts";
import { encodeHarnessContent, type HarnessSpec, type Members } from "./harness-settings.ts";

/**
 * Returns the names of settings in which a harness differs from a specification. Members added by the service to an
 * object are not differences; lists must have the same length.
 */
export function findSpecDifferences(spec: HarnessSpec, harness: Members): string[] {
  return Object.entries(encodeHarnessContent(spec))
    .filter(([name, value]) => !isCovered(value, harness[name]))
    .map(([name]) => (name === "executionRoleArn" ? "roleArn" : name));
}

function isCovered(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected)) {
    const isList = Array.isArray(actual) && actual.length === expected.length;
    return isList && expected.every((item, at) => isCovered(item, actual[at]));
  }
  if (!isObject(expected)) return expected === actual;
  return (
    isObject(actual) &&
    Object.entries(expected).every(([name, value]) => isCovered(value, actual[name]))
  );
}
