import { trust, versionAt } from "../bridge/config/trusted-configs.ts";
import { thrownMessage } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal } from "../platform/terminal.ts";
import { configFrom } from "./agents-from.ts";
import { unreadableFile } from "./unreadable-file.ts";

export async function trustCommand(config: string | undefined): Promise<number> {
  const terminal = processTerminal();
  const file = configFrom(config === undefined ? {} : { config });
  try {
    if (file === undefined) {
      terminal.note("There is no spanline.config.yaml, .yml or .json from here upwards.\n");
      return 2;
    }
    const version = await versionAt(file);
    const { files, commands } = version;
    const lines = [...commands, ...files].map((line) => `  ${oneLine(line)}\n`).join("");
    await terminal.write(
      lines === "" ? "It runs nothing before a tool is called.\n" : `It runs:\n${lines}`,
    );
    await trust(version, userDirectory(process.env));
    const until = files.length === 0 ? "it is" : "it or one of these files is";
    await terminal.write(`${oneLine(file)} may run what it names, until ${until} changed.\n`);
    return 0;
  } catch (error) {
    const why = unreadableFile(error, file ?? "") ?? thrownMessage(error);
    terminal.note(`${oneLine(why)}\n`);
    return 2;
  }
}
