/** Secrets that a tool declares. */
import { TerminalError } from '@cairn/protocol';
import type { Tool } from './tool.ts';

export function secretOf({ id, secrets }: Tool, name: string, find: (name: string) => string | undefined): string {
  const value = secrets.includes(name) ? find(name) : undefined;
  if (value !== undefined) return value;
  const why = secrets.includes(name) ? 'the configuration has no such secret' : 'the tool does not declare it';
  throw new TerminalError('credential_forbidden', {
    message: `The tool ${id} cannot have the secret ${JSON.stringify(String(name).slice(0, 80))}: ${why}.`,
    hint: 'Name it in the tool’s secrets and in the secrets of the configuration.',
  });
}
