/** `make`, which runs again only when one of its arguments is another one than the last time. */
export function cached<Arguments extends readonly unknown[], Result>(
	make: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
	let last: { args: Arguments; result: Result } | undefined;
	return (...args) => {
		const isSame = last?.args.every((value, index) => value === args[index]);
		if (!last || !isSame) last = { args, result: make(...args) };
		return last.result;
	};
}
