import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

/** How to start a Chromium of this machine. */
export interface Chromium {
  readonly executablePath: string;
  readonly args: string[];
  /** Variables in addition to the environment. */
  readonly environment: { readonly [name: string]: string };
}

/**
 * The sandbox needs unprivileged namespaces or a setuid program, and refuses root. Both are often missing in containers,
 * and the browser opens only pages of the tests.
 */
const COMMON_ARGS = ["--no-sandbox"];

/**
 * The Chromium named by `CHROMIUM`, else the Chromium in PATH, else the Chromium of the package `@sparticuz/chromium`,
 * if `folder` has the package. `CHROMIUM=package` skips the first two. Undefined if there is none.
 */
export function findChromium(
  folder: string,
  environment: NodeJS.ProcessEnv = process.env,
): Chromium | undefined {
  const named = environment["CHROMIUM"] ?? "";
  if (named !== "" && named !== "package") {
    if (!isExecutable(named)) throw new Error(`CHROMIUM is not a program: ${named}`);
    return { executablePath: named, args: COMMON_ARGS, environment: {} };
  }
  const installed = named === "package" ? undefined : findInPath(environment["PATH"] ?? "");
  if (installed === undefined) return unpackChromium(folder);
  return { executablePath: installed, args: COMMON_ARGS, environment: {} };
}

function findInPath(path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Unpacks the browser of the npm package once, with its libraries and its font, into `node_modules`. */
function unpackChromium(folder: string): Chromium | undefined {
  const modules = join(folder, "node_modules");
  if (!existsSync(join(modules, "@sparticuz/chromium"))) return undefined;
  const unpacked = join(modules, ".chromium");
  if (!existsSync(unpacked)) {
    // Renamed when complete: a killed run leaves no partial browser behind.
    const partial = `${unpacked}-${process.pid}`;
    mkdirSync(partial);
    extractPackage(folder, partial);
    try {
      renameSync(partial, unpacked);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      if (!existsSync(unpacked)) throw error;
    }
  }
  const fonts = join(unpacked, "fonts.conf");
  writeFileSync(fonts, formatFontSettings(unpacked));
  return {
    executablePath: join(unpacked, "chromium"),
    // The package has no zygote's sandbox helper.
    args: [...COMMON_ARGS, "--no-zygote"],
    environment: {
      LD_LIBRARY_PATH: join(unpacked, "al2023/lib"),
      FONTCONFIG_FILE: fonts,
    },
  };
}

/**
 * The package unpacks into the temporary folder, changes its process's environment, and unpacks the libraries only
 * where it finds AWS Lambda. So it runs in a process of its own, with the variable of Lambda.
 */
function extractPackage(folder: string, target: string): void {
  const entry = createRequire(join(folder, "package.json")).resolve("@sparticuz/chromium");
  const script = `const { default: chromium } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    await (chromium.default ?? chromium).executablePath();`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, TMPDIR: target, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Chromium could not be unpacked: ${stderr}`);
}

function formatFontSettings(unpacked: string): string {
  const folders = [join(unpacked, "fonts"), "/usr/share/fonts"];
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((folder) => `  <dir>${folder}</dir>`).join("\n")}
  <cachedir>${join(unpacked, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
