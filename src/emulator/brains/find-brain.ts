import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Brain } from "./brain.ts";
import { createDemoBrain } from "./demo/demo-brain.ts";
import { createModelBrain } from "./model/model-brain.ts";
import { parseScenario } from "./script/parse-scenario.ts";
import { createScriptBrain } from "./script/script-brain.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface BrainSources {
  readonly clock: Clock;
  /** The brain for harnesses without a configured brain. Default: `demo`. */
  readonly fallback?: string;
  /** Additional brains by name. */
  readonly named?: { readonly [name: string]: Brain };
  /** The folder of scenarios which any harness may name. Absent: harnesses cannot name scenarios. */
  readonly scripts?: string;
  /** Brain names from the settings. Their scenarios may be in any folder. */
  readonly trusted?: readonly string[];
  /** The environment with keys and URLs for models. Absent: models without keys only. */
  readonly environment?: Environment;
}

/** Finds brains by name: `demo`, `script:FILE`, `model:NAME` such as `model:ollama:qwen3`, or an additional brain. */
export function createBrainFinder({
  clock,
  fallback = "demo",
  named = {},
  environment = {},
  scripts,
  trusted = [],
}: BrainSources): (name: string | undefined) => Promise<Brain> {
  const brainsByFile = new Map<string, Promise<Brain>>();
  const findScript = async (name: string): Promise<Brain> => {
    const file = name.slice(SCRIPT_PREFIX.length);
    if (name !== fallback && !trusted.includes(name)) await checkScenarioFolder(file, scripts);
    const cached = brainsByFile.get(file);
    if (cached !== undefined) return cached;
    const brain = readScriptBrain(file, clock);
    brainsByFile.set(file, brain);
    // A failed read is not cached, because the file may be fixed.
    brain.catch(() => brainsByFile.delete(file));
    return brain;
  };
  return async (name = fallback) => {
    if (Object.hasOwn(named, name)) return named[name] as Brain;
    if (name === "demo") return createDemoBrain();
    if (name.startsWith(SCRIPT_PREFIX)) return findScript(name);
    if (name.startsWith(MODEL_PREFIX)) {
      // Loaded on demand, because the AWS signers are large.
      const { modelFromName } = await import("../../models/model-from-name.ts");
      return createModelBrain(
        modelFromName(name.slice(MODEL_PREFIX.length), environment, { clock }),
      );
    }
    const names = ["demo", "script:FILE", "model:NAME", ...Object.keys(named)];
    throw new SpanlineError("invalid_option", formatUnknownName("Brain", name, { names }));
  };
}

const SCRIPT_PREFIX = "script:";
const MODEL_PREFIX = "model:";

async function readScriptBrain(file: string, clock: Clock): Promise<Brain> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot read the script ${file}: ${reason}`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
  return createScriptBrain(parseScenario(file, text), clock);
}

/**
 * Throws if a scenario is outside of the configured folder. Any client of the emulator can create a harness, and error
 * messages quote parts of the file.
 */
async function checkScenarioFolder(file: string, folder: string | undefined): Promise<void> {
  if (folder === undefined) {
    const message = `The script ${file} is not allowed: the emulator was started without a folder of scripts. Fix: start the emulator with scripts: FOLDER`;
    throw new SpanlineError("invalid_option", message);
  }
  const message = `The script ${file} is not allowed: expected a file in ${folder}`;
  if (!isInside(resolve(file), resolve(folder))) throw new SpanlineError("invalid_option", message);
  // A link may lead out of the folder. A missing file passes this check; reading it reports the error.
  const [real, realFolder] = await Promise.all([file, folder].map((path) => realpath(path))).catch(
    () => [],
  );
  if (real === undefined || realFolder === undefined || isInside(real, realFolder)) return;
  throw new SpanlineError("invalid_option", message);
}

function isInside(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath !== "" &&
    relativePath !== ".." &&
    !relativePath.startsWith(`..${sep}`) &&
    !isAbsolute(relativePath)
  );
}
