//! Contents of files that several tests need: a function to find, a coverage report.

/// A Python function that returns its own name.
pub fn python_function(name: &str) -> String {
    format!("def {name}():\n    return '{name}'\n")
}

/// An LCOV report of `(path, lines hit, lines found)`.
pub fn lcov_report(files: &[(&str, u32, u32)]) -> String {
    let mut report = String::new();
    for (path, hit, found) in files {
        report += &format!("TN:\nSF:{path}\n");
        for line in 1..=*found {
            report += &format!("DA:{line},{}\n", u32::from(line <= *hit));
        }
        report += &format!("LF:{found}\nLH:{hit}\nend_of_record\n");
    }
    report
}
