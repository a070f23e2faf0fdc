import { dirname } from "node:path";
import { formatThrown } from "../../domain/errors.ts";
import { definePolicy } from "../agent/define-policy.ts";
import type { ConfigContext } from "./config-context.ts";
import { resolveMcpServers } from "./resolve-mcp-servers.ts";
import { createProvider } from "./create-provider.ts";
import type { AgentConfig } from "../../config/read-config.ts";
import { resolveVariables } from "../../config/variables/variables.ts";
import { createWorkspace } from "./create-workspace.ts";

/** Finds reasons why sessions of an agent would not start, as far as possible without running its code. */
export async function findStartProblems(
  config: AgentConfig,
  context: ConfigContext,
): Promise<readonly string[]> {
  const { name, provider, workspace, environment: variables } = config;
  const folder = dirname(context.file);
  const problems: string[] = [];
  const trying = async <Value>(place: string, work: Promise<Value>): Promise<Value | undefined> =>
    work.catch((error: unknown) => {
      problems.push(`${place}${formatThrown(error)}`);
      return undefined;
    });
  const resolved = await trying("", resolveVariables(variables, context.environment, folder));
  const environment = resolved?.environment ?? context.environment;
  await trying("", resolveMcpServers(config, { folder, environment }));
  if (provider.type !== "demo" && resolved !== undefined) {
    const demo = (): Promise<never> =>
      Promise.reject(new Error("The demo provider is not available here"));
    await trying(
      `agents.${name}.provider: `,
      createProvider(provider, { ...context, environment, demo }),
    );
  }
  const place = {
    ...context,
    environment,
    folder,
    policy: definePolicy({}),
    notice: () => undefined,
  };
  await trying(`agents.${name}.`, createWorkspace(workspace, place));
  return problems.map((problem) => `A session would not start: ${problem}`);
}
