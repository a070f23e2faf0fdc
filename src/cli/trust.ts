import { trust } from "../bridge/config/trusted-configs.ts";
import { thrownMessage } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal } from "../platform/terminal.ts";
import { configFrom } from "./agents-from.ts";

export async function trustCommand(config: string | undefined): Promise<number> {
  const terminal = processTerminal();
  try {
    const file = configFrom(config === undefined ? {} : { config });
    if (file === undefined) {
      terminal.note("There is no spanline.config.yaml, .yml or .json from here upwards.\n");
      return 2;
    }
    await trust(file, userDirectory(process.env));
    await terminal.write(`${oneLine(file)} may run what it names, until it is changed.\n`);
    return 0;
  } catch (error) {
    terminal.note(`${oneLine(thrownMessage(error))}\n`);
    return 2;
  }
}
