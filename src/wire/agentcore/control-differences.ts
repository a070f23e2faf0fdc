import { isObject } from "../../domain/json.ts";
import { contentBody, type HarnessSpec, type Members } from "./control-settings.ts";

/**
 * The settings of a spec that a harness has otherwise. What the service adds to an object of ours is no difference;
 * a list has to be the same.
 */
export function differencesFrom(spec: HarnessSpec, harness: Members): string[] {
  return Object.entries(contentBody(spec))
    .filter(([name, value]) => !isCovered(value, harness[name]))
    .map(([name]) => (name === "executionRoleArn" ? "roleArn" : name));
}

function isCovered(ours: unknown, theirs: unknown): boolean {
  if (Array.isArray(ours)) {
    const isList = Array.isArray(theirs) && theirs.length === ours.length;
    return isList && ours.every((item, at) => isCovered(item, theirs[at]));
  }
  if (!isObject(ours)) return ours === theirs;
  return (
    isObject(theirs) &&
    Object.entries(ours).every(([name, value]) => isCovered(value, theirs[name]))
  );
}
