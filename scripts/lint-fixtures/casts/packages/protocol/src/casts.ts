declare const value: unknown;
declare const list: readonly (number | undefined)[];
declare const name: string | undefined;
export const plain = value as string;
export const fixed = ['a', 'b'] as const;
export const indexed = list[0] as number;
export const twice = value as unknown as number; // refused
export const sure = name!; // refused
