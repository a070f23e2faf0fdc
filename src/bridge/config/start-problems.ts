import { dirname } from "node:path";
import { thrownMessage } from "../../domain/errors.ts";
import { definePolicy } from "../define-policy.ts";
import type { ConfigSurroundings } from "./config-surroundings.ts";
import { serversOf } from "./servers-of.ts";
import { providerFrom } from "./provider-from.ts";
import type { AgentConfig } from "./read-config.ts";
import { withVariables } from "./variables.ts";
import { workspaceFrom } from "./workspace-from.ts";

/** Why no session of an agent would start, as far as that shows without running any of its code. */
export async function startProblems(
  config: AgentConfig,
  around: ConfigSurroundings,
): Promise<readonly string[]> {
  const { name, provider, workspace, environment: variables } = config;
  const folder = dirname(around.file);
  const problems: string[] = [];
  const trying = async <Value>(place: string, work: Promise<Value>): Promise<Value | undefined> =>
    work.catch((error: unknown) => {
      problems.push(`${place}${thrownMessage(error)}`);
      return undefined;
    });
  const found = await trying("", withVariables(variables, around.environment, folder));
  const environment = found?.environment ?? around.environment;
  await trying("", serversOf(config, { folder, environment }));
  if (provider.type !== "demo" && found !== undefined) {
    const demo = (): Promise<never> => Promise.reject(new Error("It is not asked for"));
    await trying(
      `agents.${name}.provider: `,
      providerFrom(provider, { ...around, environment, demo }),
    );
  }
  const place = {
    ...around,
    environment,
    folder,
    policy: definePolicy({}),
    notice: () => undefined,
  };
  await trying(`agents.${name}.`, workspaceFrom(workspace, place));
  return problems.map((problem) => `A session would not start: ${problem}`);
}
