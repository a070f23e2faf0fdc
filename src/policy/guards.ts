import type { PathFact, PolicyContext } from "../domain/policy-decision.ts";
import { parsePathPattern, type PathPattern } from "./path-pattern.ts";
import { isAllowedPath, isNamedPath, isRooted } from "./path-places.ts";
import type { PolicyLayer } from "../domain/policy.ts";

/** Something that no rule allows. */
export interface Refusal {
  readonly source: string;
  readonly label: string;
  readonly reason: string;
}

/** What is wrong with the paths of a call, before any rule is asked. */
export function refusalsOf(
  context: PolicyContext,
  layer: PolicyLayer,
  sensitive: SensitivePaths,
): Refusal[] {
  const takesFolders = context.kind === "delete" || context.kind === "move";
  return context.paths.flatMap((fact): Refusal[] => {
    const named = `${fact.argument} is ${JSON.stringify(fact.input.slice(0, 200))}`;
    if (fact.place === "protected") {
      const reason = `${named}, which is Spanline's own; no policy opens it`;
      return [{ source: "default_protected_path", label: "protected_path", reason }];
    }
    const problem = problemWith(fact);
    if (problem !== undefined) {
      const reason = `${named}, which is no path: ${problem}`;
      return [{ source: "default_path_guard", label: "invalid_path", reason }];
    }
    const refusals: Refusal[] = [];
    if (!layer.allowSensitivePaths && isSensitive(fact, sensitive, takesFolders)) {
      const reason = `${named}, where secrets are kept`;
      refusals.push({ source: "default_sensitive_path", label: "sensitive_path", reason });
    }
    if (fact.place === "outside" && !layer.allowExternalPaths && !isUnderRoot(fact, layer)) {
      const reason = `${named}, which is outside of the workspace`;
      refusals.push({ source: "default_external_path", label: "external_path", reason });
    }
    return refusals;
  });
}

/** Beside those of the policy. */
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

/** Made to be read. Whoever calls them sensitive all the same is heard. */
const EXAMPLES = ["**/.env.{example,sample,template}"];

export interface SensitivePaths {
  readonly always: readonly PathPattern[];
  readonly examples: readonly PathPattern[];
  readonly own: readonly PathPattern[];
}

export function sensitivePaths({ sensitivePathPatterns }: PolicyLayer): SensitivePaths {
  always ??= SENSITIVE_PATHS.map(parsePathPattern);
  examples ??= EXAMPLES.map(parsePathPattern);
  return { always, examples, own: sensitivePathPatterns.map(parsePathPattern) };
}

/** The same for every policy; taking them apart costs more than a decision. */
let always: readonly PathPattern[] | undefined;
let examples: readonly PathPattern[] | undefined;

function isSensitive(
  fact: PathFact,
  { always, examples, own }: SensitivePaths,
  takesFolders: boolean,
): boolean {
  if (isNamedPath(own, fact, takesFolders)) return true;
  return !isAllowedPath(examples, fact) && isNamedPath(always, fact, takesFolders);
}

/** What makes it impossible to say where a path leads, whatever else is said of it. */
function problemWith(fact: PathFact): string | undefined {
  const { input, place, workspacePath, hostPath, reason } = fact;
  if (input === "") return reason ?? "it is empty";
  if (input.includes("\0")) return "it has a NUL character";
  if (/^[\0- ]*file:/i.test(input)) return "it is an address; give the path alone";
  switch (place) {
    case "inside":
      return isPlain(workspacePath) && !isRooted(workspacePath) ? undefined : NOT_FOLLOWED;
    case "outside":
      return isPlain(hostPath) && isRooted(hostPath) ? undefined : NOT_FOLLOWED;
    default:
      return reason ?? NOT_FOLLOWED;
  }
}

const NOT_FOLLOWED = "nobody could say where it leads";

/** Of what was found on the disk nothing is left to be followed. */
function isPlain(path: string | null): path is string {
  if (path === null) return false;
  return path === "" || path === "." || !/(^|[/\\])\.{1,2}([/\\]|$)|.\/$|\/\/|\0/.test(path);
}

function isUnderRoot({ hostPath }: PathFact, { externalRoots }: PolicyLayer): boolean {
  if (hostPath === null) return false;
  return externalRoots.some((root) => hostPath === root || hostPath.startsWith(`${root}/`));
}
