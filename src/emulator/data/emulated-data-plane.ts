import { array, object, oneOf, optional, string } from "../../data/schema-reader.ts";
import { readOptions } from "../../domain/option-reader.ts";
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

/** Settings for the agents in the emulator. */
export interface DataPlaneSettings {
  /** The default brain. Default: `demo`. */
  readonly brain?: string;
  /** Additional brains, by the name used by harnesses and runtimes. */
  readonly brains?: { readonly [name: string]: Brain };
  readonly runtimes?: readonly RuntimeSetting[];
  /** Overrides of the default `Switches`. */
  readonly switches?: Partial<Switches>;
  /** Default: `refuse`, because commands run as the user of the emulator. */
  readonly commands?: Commands;
  /**
   * A folder with scenarios which harnesses may name. Default: none, because any client that creates a harness could
   * read files through error messages.
   */
  readonly scripts?: string;
  /** The folder for a recording of every streamed response. Default: no recordings. */
  readonly recordings?: string;
  /** The environment with keys and URLs for brains of the kind `model:`. */
  readonly environment?: { readonly [name: string]: string | undefined };
}

/** An agent on AgentCore Runtime. */
export interface RuntimeSetting {
  /** Letters, digits, underscores and hyphens. The ARN ends with `runtime/<name>`. */
  readonly name: string;
  readonly brain?: string;
  /** Default: `python`. */
  readonly style?: RuntimeStyle;
  readonly lifecycle?: Lifecycle;
  readonly systemPrompt?: string;
  readonly environment?: { readonly [name: string]: string };
}

/** Creates the data plane for `startEmulator`. Throws if the settings are invalid. */
export function createDataPlane(
  settings: DataPlaneSettings = {},
): (parts: DataPlaneParts) => Promise<DataPlaneRoutes> {
  const switches = parseSwitches(settings.switches);
  const { brain, brains, runtimes = [], scripts, commands, recordings, environment } = settings;
  readOptions(RUNTIME_SETTINGS, runtimes, "runtimes");
  return async ({ registry, clock, dataDirectory, region, account, onBug }) => {
    const configuredBrains = [brain, ...runtimes.map((runtime) => runtime.brain)];
    const find = createBrainFinder({
      clock,
      ...omitUndefined({ fallback: brain, named: brains, environment, scripts }),
      trusted: configuredBrains.flatMap((name) => name ?? []),
    });
    // Invalid brains are reported at the start instead of to the first client.
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

/** The members that an untyped caller may misspell. The brain is checked when it is found. */
const RUNTIME_SETTINGS = array(
  object(
    {
      name: string({
        pattern: /^[a-zA-Z][a-zA-Z0-9_-]{0,99}$/,
        expected: 'a letter, then up to 99 letters, digits, "_" and "-"',
      }),
      style: optional(oneOf(RUNTIME_STYLES)),
    },
    { otherNames: "ignore" },
  ),
);
