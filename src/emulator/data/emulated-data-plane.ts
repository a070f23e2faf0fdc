import { SpanlineError } from "../../domain/errors.ts";
import type { Brain } from "../brains/brain.ts";
import { createBrainFinder } from "../brains/find-brain.ts";
import type { Lifecycle } from "../control/harness-registry.ts";
import type { DataPlaneParts, DataPlaneRoutes } from "../emulator-options.ts";
import { prepareRecordings } from "../recording/record-response.ts";
import { parseSwitches, type Switches } from "../switches.ts";
import {
  RUNTIME_STYLES,
  type Commands,
  type RuntimeRecord,
  type RuntimeStyle,
} from "./data-plane.ts";
import { createDataRoutes } from "./data-routes.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** What a user may say about the agents that the emulator runs. */
export interface DataPlaneSettings {
  /** The brain of whatever names none: `demo` when it is not given. */
  readonly brain?: string;
  /** Brains by the name that harnesses and runtimes call them by. */
  readonly brains?: { readonly [name: string]: Brain };
  readonly runtimes?: readonly RuntimeSetting[];
  /** As `Switches`; what is left out has its default. */
  readonly switches?: Partial<Switches>;
  /** `refuse` when it is not given: commands run as the user who started the emulator. */
  readonly commands?: Commands;
  /** A folder whose scenarios harnesses may name. None when it is not given: whoever makes a harness must not read files by it. */
  readonly scripts?: string;
  /** A folder that gets a recording of every streamed answer. */
  readonly recordings?: string;
  /** Where brains of the kind `model:` find their keys and addresses. */
  readonly environment?: { readonly [name: string]: string | undefined };
}

/** An agent on AgentCore Runtime. */
export interface RuntimeSetting {
  /** Letters, digits and underscores; its ARN ends in `runtime/<name>`. */
  readonly name: string;
  readonly brain?: string;
  /** `python` when it is not given. */
  readonly style?: RuntimeStyle;
  readonly lifecycle?: Lifecycle;
  readonly systemPrompt?: string;
  readonly environment?: { readonly [name: string]: string };
}

/** The data plane for `startEmulator`. Throws on settings that mean nothing. */
export function createDataPlane(
  settings: DataPlaneSettings = {},
): (parts: DataPlaneParts) => Promise<DataPlaneRoutes> {
  const switches = parseSwitches(settings.switches);
  const { brain, brains, runtimes = [], scripts, commands, recordings, environment } = settings;
  for (const runtime of runtimes) checkRuntime(runtime);
  return async ({ registry, clock, dataDirectory, region, account, onBug }) => {
    const configuredBrains = [brain, ...runtimes.map((runtime) => runtime.brain)];
    const find = createBrainFinder({
      clock,
      ...omitUndefined({ fallback: brain, named: brains, environment, scripts }),
      trusted: configuredBrains.flatMap((name) => name ?? []),
    });
    // What is wrong with it is told now, and not to the first client.
    for (const name of configuredBrains) await find(name);
    if (recordings !== undefined) await prepareRecordings(recordings);
    return createDataRoutes({
      harnesses: registry,
      runtimes: runtimes.map((runtime) => ({
        ...toRuntimeRecord(runtime),
        arn: `arn:aws:bedrock-agentcore:${region}:${account}:runtime/${runtime.name}`,
      })),
      brains: find,
      switches,
      clock,
      onBug,
      ...omitUndefined({ dataDirectory, commands, recordings }),
    });
  };
}

function toRuntimeRecord({
  brain,
  style,
  lifecycle,
  ...rest
}: RuntimeSetting): Omit<RuntimeRecord, "arn"> {
  return {
    ...rest,
    brain,
    style: style ?? "python",
    lifecycle: lifecycle ?? { idleSeconds: 900, lifetimeSeconds: 28_800 },
  };
}

function checkRuntime({ name, style }: RuntimeSetting): void {
  if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,99}$/.test(name)) {
    const message = `The runtime "${name}" needs a name of letters, digits, "_" and "-"`;
    throw new SpanlineError("invalid_option", message);
  }
  if (style !== undefined && !RUNTIME_STYLES.includes(style)) {
    const message = `The runtime "${name}" has the style "${style}"; there are ${RUNTIME_STYLES.join(", ")}`;
    throw new SpanlineError("invalid_option", message);
  }
}
