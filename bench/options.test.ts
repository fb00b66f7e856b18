import { isCairnError } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { readOptions } from './options.ts';

const refusal = (...args: readonly string[]): string => {
  try {
    readOptions(args);
  } catch (error) {
    if (isCairnError(error, 'config_invalid')) return `${error.message} ${error.hint}`;
    throw error;
  }
  return 'none';
};

describe('the arguments of the benchmarks', () => {
  it('measures SQLite and everything by default', () => {
    expect(readOptions([])).toEqual({ names: [], store: 'sqlite', quick: false, json: false, help: false });
  });

  it('takes names among options', () => {
    const options = readOptions(['log', '--store', 'postgres', '--json', 'runs-c16']);
    expect(options).toMatchObject({ names: ['log', 'runs-c16'], store: 'postgres', json: true, quick: false });
  });

  it.each([
    [['--list'], '--list'],
    [['--store'], '--store'],
    [['--store', 'oracle'], 'oracle'],
    [['--quick=no'], '--quick'],
  ])('refuses %j with a message and the way to the list', (args, named) => {
    const message = refusal(...args);
    expect(message).toContain(named);
    expect(message).toContain('--help');
    expect(message).not.toContain('\n');
  });
});
