/** `cairn studio`: prints a link that opens Studio once, signed in as the key of this command. */
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export function studio(terminal: Terminal, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const link = await client.session.createLink();
    if (flags.json === true) terminal.print(jsonLine(link));
    else {
      terminal.print(safe(link.url));
      const { dim } = styleOf(terminal.colours.err);
      terminal.tell(dim(`The link opens Studio once, until ${safe(link.expiresAt)}.`));
    }
    return exit.ok;
  });
}
