import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../src/config/read-config.ts";
import { resolveMcpServers } from "../../src/bridge/configured/resolve-mcp-servers.ts";
import { eventually } from "../support/eventually.ts";
import { openMcpWorld, type McpWorld } from "../support/server/mcp-world.ts";

const SERVER = join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

/**
 * The official filesystem server, configured with the folder `notes` of a project. By default the session works in the
 * whole project.
 */
async function filesystemServer(more: object = {}): Promise<McpWorld & { readonly root: string }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "spanline-roots-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["notes", "docs"]) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, "a.txt"), `a text in ${folder}`);
  }
  writeFileSync(join(root, "spanline.config.json"), "a secret of the configuration");
  const server = { command: process.execPath, args: [SERVER, "notes"], ...more };
  const provider = { type: "local", model: "ollama:none" };
  const { agents } = readConfig({ agents: { coder: { provider, mcpServers: { fs: server } } } });
  const [agent] = agents;
  if (agent === undefined) throw new Error("The configuration has no agent");
  const { servers } = await resolveMcpServers(agent, { folder: root, environment: {} });
  return { root, ...(await openMcpWorld(servers, { workingDirectory: root })) };
}

const allowed = (world: McpWorld) => world.callTool("fs__list_allowed_directories");

it("A filesystem server that is configured with a folder stays within that folder", async () => {
  const world = await filesystemServer();
  const { root } = world;
  expect(await world.callTool("fs__read_text_file", { path: join(root, "notes/a.txt") })).toContain(
    "a text in notes",
  );
  // The server requests roots right after the handshake, so a reply would have arrived by now.
  expect(await allowed(world)).not.toContain(`${root}\n`);
  for (const path of ["spanline.config.json", "docs/a.txt"].map((name) => join(root, name))) {
    await expect(world.callTool("fs__read_text_file", { path })).rejects.toThrow("Access denied");
    const written = world.callTool("fs__write_file", { path, content: "changed" });
    await expect(written).rejects.toThrow("Access denied");
    expect(readFileSync(path, "utf8")).not.toBe("changed");
  }
});

it.each([
  { roots: "session", folders: ["."] },
  { roots: ["docs"], folders: ["docs"] },
  { roots: ["docs", "notes"], folders: ["docs", "notes"] },
])("A server gets exactly the folders of `roots: $roots`", async (input) => {
  const world = await filesystemServer({ roots: input.roots });
  const paths = input.folders.map((folder) => join(world.root, folder));
  await eventually(async () =>
    expect(await allowed(world)).toBe(["Allowed directories:", ...paths].join("\n")),
  );
});

it("`roots: []` offers no folder and no roots capability", async () => {
  const world = await filesystemServer({ roots: [] });
  expect(await allowed(world)).toBe(`Allowed directories:\n${join(world.root, "notes")}`);
});

it.each([
  [["docs", "missing"], "agents.coder.mcpServers.fs.roots[1]"],
  [["spanline.config.json"], "agents.coder.mcpServers.fs.roots[0]"],
])(
  "A configuration with the roots %j is refused with the path of the option",
  async (roots, path) => {
    await expect(filesystemServer({ roots })).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringMatching(/^agents\.coder\..*: no such folder\. Fix: create it/),
      details: { path },
    });
  },
);

it("A server whose root is missing is reported at connection time and not started", async () => {
  const settings = {
    type: "stdio",
    name: "fs",
    command: process.execPath,
    args: [SERVER, "."],
    roots: ["/nonexistent/notes"],
  } as const;
  const world = await openMcpWorld([settings], { workingDirectory: tmpdir() });
  expect(world.reports.map(({ message }) => message)).toEqual([
    "The MCP server fs has the root /nonexistent/notes, which is not a folder",
  ]);
});
