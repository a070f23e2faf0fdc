import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ROUNDS = 15;

/** The CPU time of importing the codecs, compared with a bare start of Node [AC-98]. */
export async function measureImport(): Promise<Row> {
  const entry = fileURLToPath(new URL("../../../../dist/wire/index.js", import.meta.url));
  const subjects = [
    { name: "node, nothing imported", code: "" },
    { name: "node importing spanline/wire", code: `await import(${JSON.stringify(entry)})` },
  ];
  const measured = subjects.map(({ name }) => ({ name, rounds: [] as number[] }));
  for (let round = -2; round < ROUNDS; round++) {
    for (const [index, { code }] of subjects.entries()) {
      const figure = measureStart(code);
      if (round >= 0) measured[index]?.rounds.push(figure);
    }
  }
  const [bare = 0, importing = 0] = measured.map(({ rounds }) => computeMedian(rounds));
  return {
    title: "import of the codec entry against bare node",
    unit: "ms CPU",
    measured,
    growth: [],
    ratios: [
      { text: "added by the import, ms", value: importing - bare, target: 20, bound: "at most" },
    ],
  };
}

/** CPU time of a whole process. Extra CA certificates cost 50 ms per start, which is unrelated to spanline. */
function measureStart(code: string): number {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const script = `${code};process.stdout.write(JSON.stringify(process.cpuUsage()))`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", script],
    { env, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  const usage = JSON.parse(stdout) as { readonly user: number; readonly system: number };
  return (usage.user + usage.system) / 1000;
}
