/** Description of `--config`, shared by all commands. */
export const CONFIG_DESCRIPTION =
  "configuration file (default: the nearest spanline.config.yaml, .yml or .json upwards)";
