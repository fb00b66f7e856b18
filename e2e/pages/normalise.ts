/** Makes the output of a run reproducible: replaces ids, times, sizes and paths with example values. */

const HASH = '0123456789abcdef'.repeat(4);

export class Normaliser {
  readonly #folder: string;
  readonly #runs = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  text(text: string): string {
    return text
      .replaceAll(this.#folder, '/srv/try')
      .replace(/run_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => this.#run(id))
      .replace(/\bon [\w.-]+\/[0-9a-f]{12}\b/g, 'on my-machine/a1b2c3d4e5f6')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-01T12:00:00.000Z')
      .replace(/\b\d\d:\d\d:\d\d\.\d{3}(?!Z)/g, '12:00:00.000')
      .replace(/\b[0-9a-f]{64}\b/g, HASH)
      .replace(/\b([a-z]+_|idToken":")[0-9a-f]{12}(?=_|")/g, '$1a1b2c3d4e5f6')
      .replace(/"durationMs":\d+/g, '"durationMs":12')
      .replace(/\b(\d+ ms|\d+\.\d s)\b/g, '12 ms')
      .replace(/12 ms {2,}/g, '12 ms  ')
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4700')
      .replace(/sign-in#[\w-]{43}/g, 'sign-in#0123456789abcdefghijklmnopqrstuvwxyzABCDEFG')
      .replace(/cairn_dev_[\w-]{32}/g, 'cairn_dev_0123456789abcdefghijklmnopqrstuv')
      .replace(/"publicKey":"[\w-]{43}"/g, '"publicKey":"dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM"')
      .replace(/^[\w-]{43}$/gm, 'dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM')
      .replace(/"key":"[\w-]{43}"/g, '"key":"dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM"')
      .replace(/\b\d+ bytes/g, '4321 bytes')
      .replace(/events: \d+/g, 'events: 80')
      .replace(/v\d+\.\d+\.\d+/g, 'v24.0.0')
      .replace(/\d+\.\d [GM]iB free/g, '42.0 GiB free')
      .replace(/\d+\.\d MiB/g, '0.5 MiB');
  }

  /**
   * Numbers runs from 1 in order of appearance. Replacements have the length of real ids, so that columns stay aligned.
   */
  #run(id: string): string {
    const known = this.#runs.get(id) ?? `run_00000000-0000-7000-8000-${String(this.#runs.size + 1).padStart(12, '0')}`;
    this.#runs.set(id, known);
    return known;
  }
}
