/** `cairn start`: runs a host with a configuration until the process is stopped. */
import type { HostConfig } from '../server/config/config.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { type RunningHost, type StartOptions, startHost } from '../server/create-host.ts';
import type { Terminal } from './terminal.ts';

export async function start(terminal: Terminal, file: string, flags: Readonly<Record<string, unknown>>): Promise<void> {
  await serve(terminal, await readConfig({ file, env: terminal.env, flags }));
}

/** Prints the ready line. The first signal stops the host cleanly; the second ends the process at once. */
export async function serve(
  terminal: Terminal,
  config: HostConfig,
  options: StartOptions = {},
  stopping: () => void = () => undefined,
): Promise<RunningHost> {
  let signals = 0;
  let host: RunningHost | null = null;
  const stop = async (running: RunningHost) => {
    try {
      stopping();
      await running.close();
      terminal.exit(0);
    } catch (error) {
      terminal.tell(`cairn: the host did not stop cleanly: ${String(error)}`);
      terminal.exit(1);
    }
  };
  // Registered before the host starts: a signal while it opens its database must not leave it half open.
  terminal.onSignal(() => {
    signals += 1;
    if (signals > 1) terminal.exit(1);
    else if (host !== null) void stop(host);
  });
  host = await startHost(config, { ...options, onRejection: terminal.onRejection });
  if (signals > 0) await stop(host);
  else terminal.print(`cairn ready ${host.url}`);
  return host;
}
