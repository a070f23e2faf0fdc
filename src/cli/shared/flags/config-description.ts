/** What `--config` says in every command that has it. */
export const CONFIG_DESCRIPTION =
  "the agents; else the nearest spanline.config.yaml, .yml or .json upwards";
