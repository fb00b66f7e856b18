import { existsSync } from 'node:fs';
import { expect } from 'vitest';
export const given = [existsSync, expect];
