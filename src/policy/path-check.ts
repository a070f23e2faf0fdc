import type { PathFact, PolicyContext } from "../domain/policy/policy-decision.ts";
import { parsePathPattern, type PathPattern } from "./matching/path-pattern.ts";
import { isAllowedPath, mayNamePath, isRooted } from "./matching/path-matching.ts";
import type { PolicyLayer } from "../domain/policy/policy.ts";

/** A refused path, which no rule can allow. */
export interface PathRefusal {
  readonly source: string;
  readonly label: string;
  readonly reason: string;
}

/** Checks the paths of a call before any rule is evaluated. */
export function checkPaths(
  context: PolicyContext,
  layer: PolicyLayer,
  sensitive: SensitivePaths,
): PathRefusal[] {
  const affectsFolders = context.kind === "delete" || context.kind === "move";
  return context.paths.flatMap((fact): PathRefusal[] => {
    const named = `${fact.argument} is ${JSON.stringify(fact.input.slice(0, 200))}`;
    if (fact.location === "protected") {
      const reason = `${named}, which belongs to Spanline; no policy can allow it`;
      return [{ source: "default_protected_path", label: "protected_path", reason }];
    }
    const problem = findPathProblem(fact);
    if (problem !== undefined) {
      const reason = `${named}, which is not a valid path: ${problem}`;
      return [{ source: "default_path_guard", label: "invalid_path", reason }];
    }
    const refusals: PathRefusal[] = [];
    if (!layer.allowSensitivePaths && isSensitive(fact, sensitive, affectsFolders)) {
      const reason = `${named}, which may contain secrets`;
      refusals.push({ source: "default_sensitive_path", label: "sensitive_path", reason });
    }
    if (fact.location === "outside" && !layer.allowExternalPaths && !isUnderRoot(fact, layer)) {
      const reason = `${named}, which is outside the workspace`;
      refusals.push({ source: "default_external_path", label: "external_path", reason });
    }
    return refusals;
  });
}

/** Built-in sensitive paths, in addition to the policy's `sensitive_path_patterns`. */
export const SENSITIVE_PATHS = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/.ssh",
  "**/.gnupg",
  "**/.aws",
  "**/.azure",
  "**/.config/gcloud",
  "**/.kube/config",
  "**/.docker/config.json",
  "**/.git-credentials",
  "**/.netrc",
  "**/.npmrc",
  "**/.pypirc",
  "**/.pgpass",
  "**/id_{rsa,dsa,ecdsa,ed25519}",
  "**/*.{pem,key,p12,pfx,jks,keystore,kdbx}",
];

/** Templates without secrets, exempt from the built-in patterns. A policy's own patterns still apply to them. */
const EXAMPLE_PATHS = ["**/.env.{example,sample,template}"];

export interface SensitivePaths {
  readonly builtIn: readonly PathPattern[];
  readonly examples: readonly PathPattern[];
  readonly configured: readonly PathPattern[];
}

export function compileSensitivePaths({ sensitivePathPatterns }: PolicyLayer): SensitivePaths {
  builtInPatterns ??= SENSITIVE_PATHS.map(parsePathPattern);
  examplePatterns ??= EXAMPLE_PATHS.map(parsePathPattern);
  return {
    builtIn: builtInPatterns,
    examples: examplePatterns,
    configured: sensitivePathPatterns.map(parsePathPattern),
  };
}

/** Identical for every policy, and parsed once: parsing costs more than a decision. */
let builtInPatterns: readonly PathPattern[] | undefined;
let examplePatterns: readonly PathPattern[] | undefined;

function isSensitive(
  fact: PathFact,
  { builtIn, examples, configured }: SensitivePaths,
  affectsFolders: boolean,
): boolean {
  if (mayNamePath(configured, fact, affectsFolders)) return true;
  return !isAllowedPath(examples, fact) && mayNamePath(builtIn, fact, affectsFolders);
}

/**
 * Why a path cannot be resolved to a definite location; undefined if it can. Checked independently of the reported
 * `location`.
 */
function findPathProblem(fact: PathFact): string | undefined {
  const { input, location, workspacePath, hostPath, reason } = fact;
  if (input === "") return reason ?? "it is empty";
  if (input.includes("\0")) return "it has a NUL character";
  if (/^[\0- ]*file:/i.test(input)) return "it is a URL: expected a plain path";
  switch (location) {
    case "inside":
      return isNormalizedPath(workspacePath) && !isRooted(workspacePath) ? undefined : UNRESOLVED;
    case "outside":
      return isNormalizedPath(hostPath) && isRooted(hostPath) ? undefined : UNRESOLVED;
    default:
      return reason ?? UNRESOLVED;
  }
}

const UNRESOLVED = "it could not be resolved";

/**
 * Whether a resolved path contains no `.`, `..`, empty segment or NUL. The empty path and `.` alone mean the workspace
 * folder itself.
 */
function isNormalizedPath(path: string | null): path is string {
  if (path === null) return false;
  return path === "" || path === "." || !/(^|[/\\])\.{1,2}([/\\]|$)|.\/$|\/\/|\0/.test(path);
}

function isUnderRoot({ hostPath }: PathFact, { externalRoots }: PolicyLayer): boolean {
  if (hostPath === null) return false;
  return externalRoots.some((root) => hostPath === root || hostPath.startsWith(`${root}/`));
}
