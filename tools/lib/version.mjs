/**
 * The version in each file that names it, except package.json, package-lock.json and the files that other builds write
 * from package.json. A package without a source in Cargo.lock belongs to this workspace.
 */
export const versionPatterns = new Map([
	["Cargo.toml", /(?<=^\[workspace\.package\]\nversion = ")[^"]+/m],
	["Cargo.lock", /(?<=^name = "[^"]+"\nversion = ")[^"]+(?="\n(?!source))/gm],
	["native.js", /(?<=bindingPackageVersion !== '|version mismatch, expected )[^' ]+/g],
]);
