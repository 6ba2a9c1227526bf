"""What people and programs read: tables, CSV files, the workbook, run folders, the terminal."""
